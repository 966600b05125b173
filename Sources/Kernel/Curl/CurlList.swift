import CCurl

/// A list of texts for libcurl.
@safe final class CurlList {
    let list: UnsafeMutablePointer<curl_slist>?

    init(_ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = unsafe pawl_list_append(list, line) else { continue }
            unsafe list = longer
        }
        unsafe self.list = list
    }

    deinit { unsafe pawl_list_free(list) }
}
